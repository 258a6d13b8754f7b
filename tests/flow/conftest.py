"""Whole executions on memory adapters and a loop whose clock jumps: an hour passes in milliseconds."""

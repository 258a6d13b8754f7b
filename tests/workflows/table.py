# ruff: noqa: F401
"""Every module of the table of tests/service, so that they are packaged as one."""

import importlib.util

import caching
import cleanup_forms
import compared_steps
import conditions
import dynamic_forms
import dynamic_frames
import dynamics
import engine_tasks
import features
import futures
import gate_forms
import imperative
import launching
import mapped_plans
import mapped_records
import mapping
import models
import natures
import odd_forms
import odd_files
import odd_records
import odd_types
import odd_values
import overriding
import parcel
import promises
import records
import recursion
import references
import shapes

if importlib.util.find_spec("kubernetes"):
    import pods
if importlib.util.find_spec("pandas"):
    import frames
    import sql_tasks

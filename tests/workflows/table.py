# ruff: noqa: F401
"""Every module of the table of tests/service, so that they are packaged as one."""

import dynamics
import features
import launching
import mapped_plans
import mapped_records
import mapping
import models
import natures
import promises
import records
import shapes

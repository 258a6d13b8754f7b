"""Asks the registries of container images (OCI distribution API) for which platforms an image is built.

In: names of images. Out: platforms, or nothing where the registry can't or won't say. Never here: a pull.
"""

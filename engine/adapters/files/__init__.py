"""The store on local files: atomic renames, nothing outside its root.
In: file:// URIs below the root. Never here: a path that was not checked.
"""

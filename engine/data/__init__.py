"""The data plane: resolve bindings, walk references, gather, offload, materialise, the runtime-version gate.
In: URIs and serialized literals. Out: objects in the BlobStore, or Permanent with the failure a node ends with.
Never here: parsing a literal that is only passed on; memory that grows with a value's size; node phases.
"""

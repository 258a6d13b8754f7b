"""The store on S3, or on anything that speaks its protocol.
In: keys, bytes. Out: URIs, bytes, errors of the model. Never here: what the bytes mean. The only room that imports
aiobotocore and botocore.
"""

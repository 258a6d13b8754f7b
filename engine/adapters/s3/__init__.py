"""The store on S3, or on anything that speaks its protocol. The only room that imports aiobotocore and botocore."""

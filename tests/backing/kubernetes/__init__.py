"""A Kubernetes API server with its etcd and its scheduler, and nodes whose kubelet is made for tests.

In: programs that `make services-kubernetes` built, or that KUBEBUILDER_ASSETS points at. Out: a kubeconfig file. There
are no controllers: nothing collects garbage, evicts from dead nodes, or ends a namespace. Never here: the engine, and
anything that a test asserts.
"""

"""What an error of aiokafka means: it may pass, somebody else has the partition, or an operator is needed."""

from __future__ import annotations

from aiokafka import errors

FENCED = (errors.ProducerFenced, errors.InvalidProducerEpoch)
FINAL = (
    errors.AuthenticationFailedError,
    errors.AuthenticationMethodNotSupported,
    errors.ClusterAuthorizationFailedError,
    errors.GroupAuthorizationFailedError,
    errors.IncompatibleBrokerVersion,
    errors.InvalidTopicError,
    errors.InvalidTransactionTimeout,
    errors.MessageSizeTooLargeError,
    errors.PolicyViolationError,
    errors.RecordListTooLargeError,
    errors.SaslAuthenticationFailed,
    errors.TopicAuthorizationFailedError,
    errors.TransactionalIdAuthorizationFailed,
    errors.UnsupportedCodecError,
    errors.UnsupportedSaslMechanismError,
    errors.UnsupportedVersionError,
)
"""Asked again, Kafka would say the same."""
CLIENT_ERRORS = (errors.KafkaError, errors.IllegalOperation, AssertionError, OSError, TimeoutError)
"""All that aiokafka raises on its own account; its state machine of transactions is made of assertions."""


def cause_of(error: BaseException) -> BaseException:
    """What began it: the client wraps what kills its sender."""
    while isinstance(error.__cause__, CLIENT_ERRORS):
        error = error.__cause__
    return error


def describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

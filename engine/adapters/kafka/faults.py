"""What an error of aiokafka means: it may pass, somebody else has the partition, or an operator is needed."""

from __future__ import annotations

from aiokafka import errors

from engine.model.errors import LogFailed, LogUnreachable

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
    """Its class and its text; errors of Kafka begin their text with the class."""
    name, text = type(error).__name__, str(error)
    return text if text.startswith(name) else f"{name}: {text}" if text else name


def unusable(bootstrap: str, error: BaseException, nothing: str) -> LogFailed:
    """Kafka when it is needed for the first time. `nothing`: what was not done, `nothing was started`."""
    if isinstance(cause_of(error), errors.KafkaConnectionError | OSError | TimeoutError):
        return LogUnreachable(
            f"Kafka at {bootstrap} can't be reached (kafka.bootstrap): no broker answers there, or none as kafka.tls "
            f"and the login want it; {nothing}. With --verbose the client says more"
        )
    return LogFailed(f"Kafka at {bootstrap} can't be used: {describe(error)}; {nothing}")

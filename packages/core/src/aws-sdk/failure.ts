import { quote } from '../errors.js';

interface Failure {
  readonly name: string;
  readonly message: string;
  readonly status: number | undefined;
}

/** Names of errors about credentials: of their providers, of signing, of stores. */
const CREDENTIAL_NAMES = /credential|token|provider|auth|sign|accesskey/i;
/** Parts of messages that may quote credentials, or the command that prints them. */
const MAY_QUOTE = /credential|token|authorization|secret|password|command|\bsig=|:\/\/\S*@/i;
/** Fields of errors of a command or a credentials provider. */
const PROVIDER_FIELDS = ['tryNextLink', 'cmd', 'spawnargs'];

/** Returns the store's name for a failure, or `Error` if it does not have the form of a name. */
export function nameOf(code: unknown): string {
  return typeof code === 'string' && /^[\w.-]{1,100}$/.test(code) ? code : 'Error';
}

/** Reads an SDK error. Its message may quote credentials; {@link causeOf} leaves such messages out. */
export function readFailure(error: unknown): Failure {
  const { name, message, $metadata } = (error ?? {}) as {
    name?: unknown;
    message?: unknown;
    $metadata?: { httpStatusCode?: unknown };
  };
  const status = $metadata?.httpStatusCode;
  return {
    name: nameOf(name),
    message: typeof message === 'string' ? message : '',
    status: typeof status === 'number' ? status : undefined,
  };
}

/**
 * Reports whether the SDK made more than one attempt to send the request: the last response says nothing about the
 * attempts before it.
 */
export function wasSentAgain(error: unknown): boolean {
  const { $metadata } = (error ?? {}) as { $metadata?: { attempts?: unknown } };
  return typeof $metadata?.attempts === 'number' && $metadata.attempts > 1;
}

/** Returns an error to be the cause of ours: the SDK's own may contain credentials. */
export function causeOf(error: unknown): Error {
  const { name, message, status } = readFailure(error);
  const said = mayQuote(error) ? 'the message is left out, as it may quote keys' : quote(message);
  return new Error(`${name}${status === undefined ? '' : ` (HTTP ${status})`}: ${said}`);
}

/** Reports whether an error's message may contain credentials. */
function mayQuote(error: unknown): boolean {
  const { message, status } = readFailure(error);
  const { name } = (error ?? {}) as { name?: unknown };
  if (
    status === 401 ||
    status === 403 ||
    (typeof name === 'string' && CREDENTIAL_NAMES.test(name)) ||
    MAY_QUOTE.test(message)
  )
    return true;
  return typeof error === 'object' && error !== null && PROVIDER_FIELDS.some((key) => key in error);
}

import { errors } from 'undici';
import { EgressBlockedError, EgressFailedError } from './egress-error.ts';

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by the receiver',
  EPIPE: 'connection closed by the receiver while sending',
  ENOTFOUND: 'host name does not resolve',
  EAI_AGAIN: 'host name does not resolve for now',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EADDRNOTAVAIL: 'address not available',
  EACCES: 'connection not permitted',
  EPERM: 'connection not permitted',
  ETIMEDOUT: 'connection timed out',
  EPROTO: 'TLS handshake failed',
  UND_ERR_SOCKET: 'connection closed before the answer was complete',
  UND_ERR_HEADERS_OVERFLOW: 'answer headers too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'connection closed before the answer was complete',
};

/** Turns an exchange's error into one whose message fits the delivery log. */
export function toEgressError(error: unknown, connectTimeoutMs: number): EgressBlockedError | EgressFailedError {
  if (error instanceof EgressBlockedError || error instanceof EgressFailedError) return error;
  const code = findCode(error) ?? 'ERR_EGRESS';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new EgressFailedError(`connect timeout after ${connectTimeoutMs} ms`, code, error);
  }
  if (error instanceof errors.HTTPParserError) {
    return new EgressFailedError('answer is not valid HTTP', 'ERR_INVALID_HTTP', error);
  }
  return new EgressFailedError(`${toSentence(code, error)} (${code})`, code, error);
}

function findCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** A failed system call's own message has the address, which not everyone who reads the delivery log may know. */
function toSentence(code: string, error: unknown): string {
  const sentence = SENTENCES[code];
  if (sentence !== undefined) return sentence;
  if (error instanceof Error && 'syscall' in error) return `${String(error.syscall)} failed`;
  if (code.startsWith('ERR_SSL')) return 'TLS handshake failed';
  if (/CERT|SELF_SIGNED|VERIFY/.test(code)) return 'TLS certificate refused';
  return error instanceof Error && error.message !== '' ? error.message : 'request failed';
}

/** Why the server did not accept a mail. */
export interface SendFailure {
  /** The server's reply or the client's error, in one line, without any part of the mail's body. */
  readonly reason: string;
  /** Whether another attempt with the same mail would fail too (mail §3.4). */
  readonly isFinal: boolean;
}

const maxReasonLength = 500;

/** Sign-in and TLS errors: the settings or the server can be fixed. */
const fixable: ReadonlySet<string> = new Set(['EAUTH', 'ENOAUTH', 'ETLS', 'ECONNECTION']);

const tlsNotOffered = 'the mail server does not offer STARTTLS, and smtp.require_tls forbids sending without it';

/**
 * Reads an SMTP client error. A 5xx about the mail is final (RFC 5321 §4.2.1); a 5xx about signing in is not, because
 * the settings can be fixed.
 */
export function readSendFailure(error: unknown): SendFailure {
  const { response, permanent, code, message } = partsOf(error);
  const words = response ?? message;
  const text = isTlsNotOffered(code, message) ? `${tlsNotOffered} (${words})` : words;
  const reason = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, maxReasonLength);
  return { reason, isFinal: permanent === true && !fixable.has(String(code)) };
}

/** The client reports it with ETLS, or with a message about EHLO. */
const isTlsNotOffered = (code: unknown, message: string): boolean =>
  /STARTTLS/.test(message) && (code === 'ETLS' || code === 'ECONNECTION');

function partsOf(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const { message } = error;
  return {
    message,
    response: 'response' in error && typeof error.response === 'string' ? error.response : undefined,
    permanent: 'permanent' in error ? error.permanent : undefined,
    code: 'code' in error ? error.code : undefined,
  };
}

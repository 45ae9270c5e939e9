/** Why a mail was not taken. */
export interface Refusal {
  /** What the server said, or what went wrong on the way to it; one line, without anything of the mail's body. */
  readonly reason: string;
  /** Will the same mail never be taken? */
  readonly isFinal: boolean;
}

const maxReasonLength = 500;

/**
 * Reads an error of the SMTP client. A 5xx of the server about this mail is final (RFC 5321 §4.2.1); one about signing
 * in is not, since that is mended in the settings.
 */
export function refusalOf(error: unknown): Refusal {
  const { response, permanent, code, message } = partsOf(error);
  const reason = (response ?? message).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, maxReasonLength);
  return { reason, isFinal: permanent === true && code !== 'EAUTH' && code !== 'ENOAUTH' };
}

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

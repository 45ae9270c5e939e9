import type { DeniedAddress } from './egress-rules.ts';
import type { EgressResponse } from './exchange.ts';

/** Thrown when one of the target's addresses is in a denied range. Final: a retry does not help (webhooks §7.3). */
export class EgressBlockedError extends Error {
  override readonly name = 'EgressBlockedError';
  readonly code = 'EGRESS_BLOCKED';
  readonly host: string;
  readonly address: string;
  readonly range: string;

  constructor(host: string, { address, range }: DeniedAddress) {
    const subject = host === address ? host : `${host} is ${address}, which`;
    super(`egress blocked: ${subject} lies in the denied range ${range}`);
    this.host = host;
    this.address = address;
    this.range = range;
  }
}

/** Thrown when a request fails. The message is a short sentence for the delivery log, `code` is for programs. */
export class EgressFailedError extends Error {
  override readonly name = 'EgressFailedError';
  readonly code: string;
  /** How the answer began, if it had begun. */
  answer: EgressResponse | undefined;

  constructor(message: string, code: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

import type { DeniedAddress } from './egress-rules.ts';

/** The target lies in a denied range. Final: trying again does not help (interface §6.3). */
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

/** The exchange failed; the message is a short sentence for a delivery log, `code` is for programs. */
export class EgressFailedError extends Error {
  override readonly name = 'EgressFailedError';
  readonly code: string;

  constructor(message: string, code: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

import type { PlainError } from '../protocol.ts';

/** A refusal by the host, as an extension's code catches it. */
export class HostRefusal extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly details: PlainError['details'];

  constructor({ message, status, code, details }: PlainError) {
    super(message);
    this.name = 'HostRefusal';
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

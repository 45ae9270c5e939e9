import { AppError, malformed } from '@recordbus/errors';
import { findJsonExcess } from '@recordbus/http';
import type { ReceivedMail } from '../../extensions/jobs/stored-mail.ts';

/** A request of a provider. */
export interface ProviderRequest {
  readonly body: Buffer;
  readonly contentType: string;
  /** The setting `mail.inbound.<provider>.secret`. */
  readonly secret: string;
}

/** A mail that a provider passed on, checked. */
export interface Delivery {
  readonly mail: ReceivedMail;
  /** The same whenever the provider repeats the mail. */
  readonly messageKey: string;
  /** What the provider signs once only: a second request with it is refused. */
  readonly token?: string;
}

/** A provider's format, and how it proves that it sends a request (mail §6). */
export interface InboundProvider {
  readonly maxBytes: number;
  /** Throws 401 for wrong credentials, before the body is read. */
  admit?(authorization: string | undefined, secret: string): void;
  /**
   * Reads a request. Undefined for one that brings no mail. Throws 401 for a wrong signature, 400 and 422 for what is no mail.
   */
  read(request: ProviderRequest): Promise<Delivery | undefined>;
}

/** A provider repeats a request for some hours, with its first time. */
const maxAgeSec = 12 * 3600;
/** How far its clock may be ahead. */
const maxAheadSec = 300;

/** Throws 401 unless the time, in Unix seconds, is one of the last twelve hours. */
export function checkTime(sec: number): void {
  const ageSec = Date.now() / 1000 - sec;
  if (!(ageSec <= maxAgeSec && ageSec >= -maxAheadSec)) throw notProved("the request's time is too far from now");
}

/** 401: the request does not prove that the provider sent it. */
export const notProved = (message: string): AppError => new AppError(401, 'unauthenticated', message);

/** Decodes UTF-8. Throws 400 for other bytes. */
export function readText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed('the body is not UTF-8');
  }
}

/** Parses JSON. Throws 400 for other text, and for JSON that nests too deep or has too many members. */
export function readJson(text: string, what = 'the body'): unknown {
  const excess = findJsonExcess(Buffer.from(text));
  if (excess) throw malformed(`${what} ${excess}`);
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(`${what} is not valid JSON`);
  }
}

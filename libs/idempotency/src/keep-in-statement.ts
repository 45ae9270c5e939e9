import { isDatabaseError, sqlState } from '@recordbus/database';
import { keptFor } from './key-store.ts';

/** The parts of the SQL that keeps an answer. All are SQL. */
interface KeptAnswer {
  /** The values of an unused key, of type `bytea`. */
  readonly id: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly etag: string;
  /** The JSON of the whole answer, as text. */
  readonly json: string;
  /** An item of FROM with a row for the answer, or none if there is nothing to keep. */
  readonly from: string;
}

/**
 * SQL that keeps the answer of a write in the statement of the write, and returns its `json`. The answer is not
 * encrypted, so use it only for answers whose data is stored unencrypted anyway. The statement fails if another request
 * has used the key meanwhile (`isKeyUsed`).
 */
export const keepInStatement = ({ id, fingerprint, status, etag, json, from }: KeptAnswer): string =>
  // A replica of the previous version sees a lease in place of an answer, and reports that the first request is
  // running.
  `insert into system.idempotency_keys (id, token, lease_until, fingerprint, status, etag, json, expires_at)
  select ${id}, gen_random_uuid(), now() + ${keptFor}, ${fingerprint}, ${status}, ${etag}, ${json}, now() + ${keptFor} from ${from}
  returning json`;

/** Whether a statement failed because its key was used meanwhile. */
export const isKeyUsed = (error: unknown): boolean =>
  isDatabaseError(error, sqlState.uniqueViolation) && error.constraint === 'idempotency_keys_pkey';

import type { Reply } from '../reply.ts';

/** An answer as it is stored for a repeated request. */
export interface KeptReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly json: string;
}

/** Runs one SQL statement and returns its rows. */
export type RunStatement = <R>(statement: {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}) => Promise<R[]>;

/** A key that this request holds: do the work, then keep its answer or release the key. */
export interface FirstClaim {
  readonly outcome: 'first';
  keep(reply: KeptReply, digest: Buffer): Promise<void>;
  /** Keeps the answer in the work's transaction; returns false when another request has taken the key over. */
  keepIn(query: RunStatement, reply: KeptReply, digest: Buffer): Promise<boolean>;
  release(): Promise<void>;
}

/** What claiming a key led to. */
export type IdempotencyClaim =
  | FirstClaim
  | { readonly outcome: 'running' }
  /** Returns the stored answer for the same request, unless it was forgotten; undefined for another one. */
  | { readonly outcome: 'answered'; replyTo(digest: Buffer): KeptReply | 'forgotten' | undefined };

/** An unused key, in the form in which a statement can write it together with its work. */
export interface UnusedKey {
  readonly id: Buffer;
  /** Identifies the request that uses it. */
  readonly fingerprint: Buffer;
}

/** Keeps answers by idempotency key, for all replicas (http §7.9). */
export interface IdempotencyStore {
  /** Looks a key up without claiming it; undefined if a request has used it. `digest` is that of this request. */
  findUnused(identity: string, digest: Buffer): Promise<UnusedKey | undefined>;
  /** Claims a key; `identity` is the key with its caller and route. */
  claim(identity: string): Promise<IdempotencyClaim>;
}

/**
 * Keeps a request's answer with a key in its work's transaction, so that both commit or neither. Throws 409, which
 * rolls the transaction back, when the key was taken over meanwhile.
 */
export type KeepAnswer = (reply: Reply, query: RunStatement) => Promise<void>;

/** The idempotency key of a request whose handler makes sure that the work is done once. */
export interface RequestKey {
  /** Returns the key for a statement that keeps its answer itself; undefined if a request has used it. */
  findUnused(): Promise<UnusedKey | undefined>;
  /** Does the work within a claim on the key. */
  answerOnce(work: (keepAnswer: KeepAnswer) => Promise<Reply> | Reply): Promise<Reply>;
}

import type { IdempotencyClaim, IdempotencyStore, KeptReply } from './store.ts';

/** Creates a store that keeps keys in memory as the database does, and lists the identities that were claimed. */
export function createMemoryStore(): IdempotencyStore & { readonly identities: string[] } {
  const kept = new Map<string, { reply?: KeptReply; digest?: Buffer }>();
  const identities: string[] = [];
  return {
    identities,
    async findUnused(identity, digest) {
      return kept.has(identity) ? undefined : { id: Buffer.from(identity), fingerprint: digest };
    },
    async claim(identity): Promise<IdempotencyClaim> {
      identities.push(identity);
      const known = kept.get(identity);
      if (known) {
        const { reply, digest } = known;
        if (!reply || !digest) return { outcome: 'running' };
        return { outcome: 'answered', replyTo: (other) => (digest.equals(other) ? reply : undefined) };
      }
      kept.set(identity, {});
      return {
        outcome: 'first',
        async keep(reply, digest) {
          kept.set(identity, { reply, digest });
        },
        async keepIn(_query, reply, digest) {
          kept.set(identity, { reply, digest });
          return true;
        },
        async release() {
          kept.delete(identity);
        },
      };
    },
  };
}

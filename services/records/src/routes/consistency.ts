import type { ReplicaRead } from '@recordbus/database';
import { consistencyHeader } from '@recordbus/request/consistency';

/** The header in which a read names the state that it must see. */
export const consistencyHeaders = {
  'X-Service-Consistency':
    'the value from the answer to a write: the read sees that write, even if a read replica serves it',
};

interface Reading {
  readonly query: { readonly consistency?: 'eventual' | undefined };
  header(name: string): string | undefined;
}

/** The state that a read on a read replica must see. */
export const replicaReadOf = ({ query, header }: Reading): ReplicaRead => ({
  after: query.consistency === 'eventual' ? undefined : header(consistencyHeader),
});

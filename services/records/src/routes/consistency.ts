import type { ReplicaRead } from '@recordbus/database';
import { consistencyHeader } from '@recordbus/shared/consistency';

/** The header of reads that names what they must see. */
export const consistencyHeaders = {
  'X-Service-Consistency': 'of the answer to a write: the read sees that write, although a read replica may serve it',
};

interface Reading {
  readonly query: { readonly consistency?: 'eventual' | undefined };
  header(name: string): string | undefined;
}

/** What a read must see if a read replica serves it. */
export const replicaReadOf = ({ query, header }: Reading): ReplicaRead => ({
  after: query.consistency === 'eventual' ? undefined : header(consistencyHeader),
});

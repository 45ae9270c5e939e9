import type { Database } from '@recordbus/database';
import { authOf, type QuerySchema } from '@recordbus/query';
import type { RuleName } from '@recordbus/schema';
import type { RequestContext } from '@recordbus/shared/context';
import type { Storage } from '@recordbus/storage';
import type { FindReferrers } from '../delete/referrers.ts';
import type { Downloads } from '../files/downloads.ts';
import type { Removals } from '../files/removals.ts';
import type { FindLostFiles } from '../history/restore-record.ts';
import type { Asking } from '../rules/compile-rule.ts';
import type { ServedCollections } from '../schema/served-collections.ts';
import type { SearchVectors } from '../vector/search-vectors.ts';
import type { WritableDatabase } from '../write/hooked-transactions.ts';
import type { WriteRules } from '../write/write-rules.ts';

/** What the routes of records stand on. */
export interface RouteDeps extends WriteRules {
  readonly database: Database & WritableDatabase;
  readonly collections: ServedCollections;
  /** What rules and filters are about. */
  readonly schema: QuerySchema;
  readonly searchVectors: SearchVectors;
  readonly findReferrers: FindReferrers;
  readonly findLostFiles: FindLostFiles;
  readonly storage: Storage;
  readonly removals: Removals;
  readonly downloads: Downloads;
  /** Largest multipart body. */
  readonly maxUploadBytes: number;
  /** To be called after a commit that wrote events; answers never wait for the bus. */
  readonly wakeRelay: () => void;
  /** To be called after a commit by which tokens may have ended. */
  readonly tellGateways: () => void;
}

interface Input {
  readonly params: { readonly collection: string };
  readonly context: RequestContext;
}

/** What a request asks of a collection. */
export const requestOf = (action: RuleName, { params, context }: Input) => ({
  collection: params.collection,
  action,
  principal: context.principal,
});

/** Refuses, before query and body are read, whoever may not do this with the collection at all (contract §2). */
export const admitTo =
  (action: RuleName, { collections }: RouteDeps) =>
  async (input: Input): Promise<void> => {
    await collections.admit(requestOf(action, input));
  };

interface AskedInput extends Input {
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  queryText(name: string): string | undefined;
  header(name: string): string | undefined;
}

/** Of whom and of what the rules of a request are asked. */
export const askingOf = (method: string, input: AskedInput, { schema }: Pick<RouteDeps, 'schema'>): Asking => ({
  principal: input.context.principal,
  schema,
  request: {
    method,
    auth: authOf(input.context.principal),
    body: input.body,
    query: input.queryText,
    header: input.header,
  },
});

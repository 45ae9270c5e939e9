import type { QuerySchema } from '@recordbus/query';
import type { RequestContext } from '@recordbus/request/context';
import type { RuleName } from '@recordbus/schema';
import type { OperationLimits } from '../batch/operation-limits.ts';
import type { DeleteRules } from '../delete/deletion.ts';
import type { Downloads } from '../files/downloads.ts';
import type { UploadDeps } from '../files/receive-record-form.ts';
import type { RestoreRules } from '../history/restore-rules.ts';
import type { RecordReads } from '../read/record-reads.ts';
import type { ServedCollections } from '../record/served-collections.ts';
import type { ExportReads } from '../transfer/export/open-export.ts';
import type { SearchVectors } from '../vector/search-vectors.ts';
import type { VectorRanking } from '../vector/vector-ranking.ts';
import type { RunWrite } from '../write/write-unit.ts';

/** What the record routes depend on. */
export interface RouteDeps extends DeleteRules, RestoreRules, UploadDeps {
  readonly write: RunWrite;
  readonly reads: RecordReads;
  readonly exports: ExportReads;
  readonly collections: ServedCollections;
  /** The collections that rules and filters may name. */
  readonly schema: QuerySchema;
  readonly searchVectors: SearchVectors;
  readonly vectorRanking: VectorRanking;
  readonly downloads: Downloads;
  /** How many operations a batch may have. */
  maxBatchOperations(): number;
  readonly operationLimits: OperationLimits;
}

interface Input {
  readonly params: { readonly collection: string };
  readonly context: RequestContext;
}

/** A request's collection, action and principal. */
export const requestOf = (action: RuleName | readonly RuleName[], { params, context }: Input) => ({
  collection: params.collection,
  action,
  principal: context.principal,
});

/** Creates the check that runs before query and body are read (records §13.1). */
export const admitTo =
  (action: RuleName | readonly RuleName[], { collections }: RouteDeps) =>
  (input: Input): unknown =>
    collections.admit(requestOf(action, input));

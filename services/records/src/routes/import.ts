import type { Database } from '@recordbus/database';
import { forbidden, unsupportedMediaType } from '@recordbus/errors';
import { isMultipart, type Route, route } from '@recordbus/http';
import { isAdmin, scopeMissing } from '@recordbus/request/key-rights';
import { openAnnounced } from '../files/announced-files.ts';
import { shownJob } from '../jobs/job.ts';
import { callOf } from '../rules/rule-context.ts';
import { importQuery } from '../transfer/import/import-options.ts';
import { startImport } from '../transfer/import/start-import.ts';
import { collectionParams, collectionPaths } from './record-paths.ts';
import { admitTo, type RouteDeps, requestOf } from './route-deps.ts';

/** The API document shows the longest path, which comes first. In the others, `import` is in an id's place. */
const paths = collectionPaths.map((path) => `${path}/import`).reverse();

/** Higher than any setting. The handler refuses bodies larger than `jobs.max_body_bytes`. */
const bodyLimitBytes = 2 ** 41;

const streamedBody = {
  'text/csv': { type: 'string', description: 'the columns in the first line' },
  'application/x-ndjson': { type: 'string', description: 'one object in each line' },
  'application/json': { type: 'array', items: { type: 'object' } },
};

const actions = ['create', 'update'] as const;

interface ImportRouteDeps extends RouteDeps {
  maxBodyBytes(): number;
  wakeJobs(): void;
  /** Reads the collections again, since a column may be a field that was just added. */
  reload(): Promise<void>;
  /** The connections for admins' work. */
  readonly admin: Database;
}

/** `POST /api/v1/records/<col>/import`. */
export const importRoute = (deps: ImportRouteDeps): Route =>
  route({
    method: 'POST',
    idempotent: true,
    path: paths,
    access: 'admin',
    scope: 'records:write',
    action: 'create',
    summary: 'Import records from CSV or JSON, as a job',
    params: collectionParams,
    query: importQuery,
    streamedBody,
    bodyLimitBytes,
    answers: {
      202: shownJob,
      400: 'a parameter is invalid, or the body is not in its encoding',
      404: 'no such collection',
      405: 'a view collection is read-only',
      409: 'the upload took too long',
      410: "the earlier import's body is gone",
      413: 'the body is too large',
      415: 'the body is compressed, or a form',
      422: "a parameter, a column or the body's format is refused, or the body is broken",
    },
    admit: admitTo(actions, deps),
    handler: async (input) => {
      const { context, query, stream, header, keepAnswer } = input;
      const { principal } = context;
      if (principal.type !== 'admin' && principal.type !== 'service') throw forbidden('only for admin tokens');
      if (query.events === 'none' && !isAdmin(principal)) throw scopeMissing('admin');
      if (stream && isMultipart(stream))
        throw unsupportedMediaType('text/csv, application/x-ndjson or application/json');
      const starting = { ...deps, database: deps.admin };
      await deps.reload();
      const collection = await deps.collections.admit(requestOf(actions, input));
      const request = { collection, query, actor: principal, call: callOf('POST', input, deps), stream, header };
      await using announced = openAnnounced(deps);
      const reply = await startImport(starting, { ...request, keepAnswer }, announced);
      announced.keep();
      return reply;
    },
  });

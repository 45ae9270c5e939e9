import type { Query } from '@recordbus/database';
import { createParameters, type Parameters, type QuerySchema } from '@recordbus/query';
import { type Collection, hasTimeColumn, selectList, tableOf } from '@recordbus/schema';
import { isRecordId } from '../record/record-id.ts';
import { ruleRefusal } from '../rules/authorise.ts';
import { type Asking, compileRule, isAsked } from '../rules/compile-rule.ts';
import { type Prepared, perCollection } from '../sql/prepared.ts';
import { createShapeCache } from '../sql/shape-cache.ts';
import { project } from './projection.ts';

/** A record as the body of an answer, and its version. */
export interface FoundRecord {
  /** `{"data": record}`. */
  readonly body: string;
  /** Null for a row of a view that has no such column. */
  readonly updatedAtSec: number | null;
}

interface Get extends Prepared {
  readonly parameters: Parameters;
}

const shapesOf = perCollection(() => createShapeCache<Get>('get'));

/**
 * Reads one record; the answer's body comes from the database as it is sent. Throws 403 or 401 for a record that the
 * view rule hides.
 */
export async function findRecord(
  query: Query,
  collection: Collection,
  id: string,
  fields: string | undefined,
  asking: Asking,
): Promise<FoundRecord | undefined> {
  if (!isRecordId(id)) return undefined;
  const isPlain = fields === undefined;
  const asked = isAsked(collection, 'view', asking.principal) ? asking.schema : undefined;
  const shape = `${asked ? 'ruled' : 'open'}|${fields ?? ''}`;
  const { parameters, ...statement } = shapesOf(collection)(
    shape,
    () => composeGet(collection, fields, asked),
    isPlain,
  );
  const values = [id, ...parameters.values(asking.request)];
  const [row] = await query<FoundRecord & { isAllowed?: boolean }>({ ...statement, values });
  if (row?.isAllowed === false) throw ruleRefusal(asking.principal);
  return row;
}

/** A get; its first value is the id. With a schema the view rule is asked as well. */
export function composeGet(collection: Collection, fields: string | undefined, asked: QuerySchema | undefined): Get {
  const parameters = createParameters(2);
  const rule = asked && compileRule(collection, 'view', asked, { row: 't', parameters });
  const text = `select '{"data":' || row_to_json(r.*)::text || '}' as body, ${
    hasTimeColumn(collection, 'updated_at') ? 't.updated_at' : 'null'
  } as "updatedAtSec"${rule === undefined ? '' : `, (${rule}) is true as "isAllowed"`}
from ${tableOf(collection)} t
cross join lateral (select ${selectList(project(collection, fields), 't')}) r
where t.id = $1`;
  return { text, parameters };
}

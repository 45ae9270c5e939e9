import type { Query } from '@recordbus/database';
import { type Collection, tableOf } from '@recordbus/schema';
import { selectList } from '../record/columns.ts';
import { isRecordId } from '../record/record-id.ts';
import { perCollection } from '../sql/prepared.ts';
import { createShapeCache } from '../sql/shape-cache.ts';
import { project } from './projection.ts';

/** A record as the body of an answer, and its version. */
export interface FoundRecord {
  /** `{"data": record}`. */
  readonly body: string;
  readonly updatedAtSec: number;
}

const shapesOf = perCollection(() => createShapeCache('get'));

/** Reads one record; the answer's body comes from the database as it is sent. */
export async function findRecord(
  query: Query,
  collection: Collection,
  id: string,
  fields: string | undefined,
): Promise<FoundRecord | undefined> {
  if (!isRecordId(id)) return undefined;
  const isPlain = fields === undefined;
  const statement = shapesOf(collection)(fields ?? '', () => composeGet(collection, fields), isPlain);
  const [row] = await query<FoundRecord>({ ...statement, values: [id] });
  return row;
}

/** The text of a get; its one value is the id. */
export const composeGet = (collection: Collection, fields: string | undefined): string =>
  `select '{"data":' || row_to_json(r.*)::text || '}' as body, t.updated_at as "updatedAtSec"
from ${tableOf(collection)} t
cross join lateral (select ${selectList(project(collection, fields), 't')}) r
where t.id = $1`;

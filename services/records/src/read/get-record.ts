import type { Query } from '@recordbus/database';
import { createParameters, type Parameters } from '@recordbus/query';
import { type Collection, type FieldSealing, hasTimeColumn, tableOf } from '@recordbus/schema';
import { isRecordId } from '../record/record-id.ts';
import { ruleRefusal } from '../rules/authorise.ts';
import { type Asking, compileRule, isAsked, writerOf } from '../rules/compile-rule.ts';
import { type Prepared, perCollection } from '../sql/prepared.ts';
import { createShapeCache } from '../sql/shape-cache.ts';
import { readExpand } from './expansion.ts';
import { openAnswer } from './open-answer.ts';
import { readProjection } from './projection.ts';
import { recordJson, type Shown } from './record-json.ts';

/** What a client wants to see of a record. */
export interface GetRequest {
  readonly id: string;
  readonly fields?: string | undefined;
  readonly expand?: string | undefined;
}

/** A record as the body of an answer, and its version. */
interface FoundRecord {
  /** `{"data": record}`. */
  readonly body: string;
  /** Null for a row of a view that has no such column. */
  readonly updatedAtSec: number | null;
}

interface Get extends Prepared {
  readonly parameters: Parameters;
  readonly shown: Shown;
}

const shapesOf = perCollection(() => createShapeCache<Get>('get'));

/**
 * Reads one record; the answer's body comes from the database as it is sent. Throws 400 for an `expand` that can't be
 * understood, 403 or 401 for a record that the view rule hides.
 */
export async function findRecord(
  query: Query,
  collection: Collection,
  request: GetRequest,
  asking: Asking,
  sealing: FieldSealing,
): Promise<FoundRecord | undefined> {
  const { id, fields, expand } = request;
  const isPlain = fields === undefined && expand === undefined;
  const shape = JSON.stringify([writerOf(asking), fields, expand]);
  const compose = () => composeGet(collection, request, asking);
  const { parameters, shown, ...statement } = shapesOf(collection)(shape, compose, isPlain);
  if (!isRecordId(id)) return undefined;
  const values = [id, ...parameters.values(asking.request)];
  const [row] = await query<FoundRecord & { isAllowed?: boolean }>({ ...statement, values });
  if (row?.isAllowed === false) throw ruleRefusal(asking.principal);
  return row && { ...row, body: openAnswer(sealing, shown, row.body) };
}

/** A get; its first value is the id. Where the view rule is an expression that is asked, it says what came of it. */
function composeGet(
  collection: Collection,
  { fields, expand }: GetRequest,
  asking: Pick<Asking, 'principal' | 'schema'>,
): Get {
  const parameters = createParameters(2);
  const { principal, schema } = asking;
  const rule =
    isAsked(collection, 'view', principal) && compileRule(collection, 'view', schema, { row: 't', parameters });
  const shown = {
    collection,
    projection: readProjection(fields),
    expansions: expand === undefined ? undefined : readExpand(expand, collection, asking),
  };
  const { from, text: json } = recordJson(shown, 't', { parameters, schema });
  const text = `select '{"data":' || ${json} || '}' as body, ${
    hasTimeColumn(collection, 'updated_at') ? 't.updated_at' : 'null'
  } as "updatedAtSec"${rule === false ? '' : `, (${rule}) is true as "isAllowed"`}
from ${tableOf(collection)} t
${from}
where t.id = $1`;
  return { text, parameters, shown };
}

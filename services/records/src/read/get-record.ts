import { versionOf } from '@recordbus/journal';
import { createNamedParameters, type NamedParameters, readsOnlyRecord } from '@recordbus/query';
import { type Collection, type FieldEncryption, perCollection, tableOf } from '@recordbus/schema';
import { type Prepared, withValues } from '../record/prepared.ts';
import { isRecordId } from '../record/record-id.ts';
import { ruleRefusal } from '../rules/authorize.ts';
import { callerKind, compileRule } from '../rules/compile-rule.ts';
import { needsRuleCheck, type RuleContext } from '../rules/rule-context.ts';
import { composeEstimate } from '../shape/answer-estimate.ts';
import { checkAnswerSize, limitedText } from '../shape/answer-limit.ts';
import { decryptAnswer } from '../shape/decrypt-answer.ts';
import { selectedColumns } from '../shape/field-selection.ts';
import { readProjection } from '../shape/read-projection.ts';
import { isOpenEnded, type Projection, recordJson } from '../shape/record-json.ts';
import { createShapeCache } from '../shape/shape-cache.ts';
import type { RecordReads } from './record-reads.ts';

/** A client's get. */
export interface GetRequest {
  readonly id: string;
  readonly fields?: string | undefined;
  readonly expand?: string | undefined;
}

/** The answer's body, and the record's version. */
interface FoundRecord {
  /** `{"data": record}`. */
  readonly body: string;
  /** The version, as in the ETag; null for a view's row. */
  readonly version: string | null;
}

interface Found extends FoundRecord {
  /**
   * Whether the body, apart from expansions, depends only on the version: no shown field's rule reads the caller, the
   * time or other records.
   */
  readonly isFixedByVersion: boolean;
}

/** The values for each run of a get. The statement uses those that it needs. */
interface GetValues {
  readonly id: string;
  /** How many bytes the answer may have. */
  readonly maxBytes: number;
}

interface Get extends Prepared, Pick<NamedParameters<GetValues>, 'valuesFrom'> {
  readonly projection: Projection;
  readonly isFixedByVersion: boolean;
}

const shapesOf = perCollection(() => createShapeCache<Get>('get'));

/**
 * Reads one record. The database writes the answer's body. Throws 400 for an invalid `expand`, 403 or 401 for a record
 * that the view rule hides, and 422 for a read that takes too long or an answer that is too large.
 */
export async function findRecord(
  reads: RecordReads,
  collection: Collection,
  request: GetRequest,
  ruleContext: RuleContext,
  encryption: FieldEncryption,
): Promise<Found | undefined> {
  const { id, fields, expand } = request;
  const isPlain = fields === undefined && expand === undefined;
  const kind = callerKind(ruleContext);
  const shape = isPlain ? kind : JSON.stringify([kind, fields, expand]);
  const get = shapesOf(collection)(shape, () => composeGet(collection, request, ruleContext), isPlain);
  if (!isRecordId(id)) return undefined;
  const maxBytes = reads.maxAnswerBytes();
  const values = get.valuesFrom({ id, maxBytes }, ruleContext.request);
  const query = expand === undefined && collection.type !== 'view' ? reads.get : reads.shaped;
  const [row] = await query<FoundRecord & { isAllowed?: boolean }>(withValues(get, values));
  if (row?.isAllowed === false) throw ruleRefusal(ruleContext.principal);
  if (!row) return undefined;
  checkAnswerSize(row.body, maxBytes);
  const decrypted = decryptAnswer(encryption, get.projection, row.body, maxBytes);
  return {
    version: row.version,
    body: typeof decrypted === 'string' ? decrypted : await decrypted,
    isFixedByVersion: get.isFixedByVersion,
  };
}

/** Composes a get. A view rule that must be checked adds the column `isAllowed`. */
function composeGet(
  collection: Collection,
  { fields, expand }: GetRequest,
  ruleContext: Pick<RuleContext, 'principal' | 'schema'>,
): Get {
  const parameters = createNamedParameters<GetValues>();
  const rule =
    needsRuleCheck(collection, 'view', ruleContext) &&
    compileRule(collection, 'view', ruleContext, { row: 't', parameters, isTable: true });
  const projection = readProjection(collection, { fields, expand }, ruleContext);
  const context = { parameters, isEstimated: expand !== undefined, ...ruleContext };
  const { from, text: json } = recordJson(projection, 't', context);
  const isLimited = context.isEstimated || isOpenEnded(collection);
  const body = isLimited ? limitedText(json, { maxBytes: parameters.named('maxBytes', 'bigint') }) : json;
  const id = parameters.named('id', 'text');
  const row = `(select * from ${tableOf(collection)} where id = ${id}) p`;
  const estimate = context.isEstimated ? `with ${composeEstimate(projection, row, context)}\n` : '';
  const text = `${estimate}select '{"data":' || ${body} || '}' as body, ${
    collection.type === 'view' ? 'null' : versionOf('t')
  } as version${rule === false ? '' : `, (${rule}) is true as "isAllowed"`}
from ${tableOf(collection)} t
${from}
where t.id = ${id}`;
  const isFixedByVersion = shownRules(projection).every((rule) => readsOnlyRecord(rule, collection));
  return {
    text,
    valuesFrom: parameters.valuesFrom,
    projection,
    isFixedByVersion,
    onPrimary: parameters.readsAccount,
  };
}

/** The rules that decide which selected fields an answer shows. */
const shownRules = ({ collection, selection, view }: Projection): string[] =>
  selectedColumns(collection, selection, view).flatMap(({ name }) => view.conditional.get(name) ?? []);

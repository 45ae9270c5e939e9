import { hasAccounts, tokenVersionAt } from '@recordbus/accounts';
import {
  composeWrite,
  newValue,
  nextRevision,
  nextUpdatedAt,
  nowSec,
  type Origin,
  type WriteStatement,
} from '@recordbus/journal';
import { type Collection, fieldTypeOf, quoteIdentifier } from '@recordbus/schema';
import { lastVersions } from '../../write/last-versions-sql.ts';

/** The values for a statement that creates rows' records: lists with an entry for each. */
export interface CreatedRows {
  readonly ids: readonly string[];
  /** Unix seconds from the body; null for when it is written. */
  readonly created: readonly (number | null)[];
  readonly updated: readonly (number | null)[];
  /** Password hashes; only for auth collections. */
  readonly hashes: readonly (string | null)[];
  /** The values by field, as texts; a field that no row names has none. */
  readonly columns: ReadonlyMap<string, readonly (string | null)[]>;
}

/** The statement's variants. */
export interface CreateRowsOptions {
  /** Whether the ids come from the body, so records with them may exist or have existed. */
  readonly isPlaced: boolean;
  /** Whether it writes no events. */
  readonly isSilent: boolean;
  /** Whether it fails at an existing record, so the error names it. Otherwise it skips the row. */
  readonly isStrict: boolean;
}

/** The statement that creates rows' records, with their events. It returns the written records' ids. */
export const composeCreateRows = (
  collection: Collection,
  { isPlaced, isSilent, isStrict }: CreateRowsOptions,
): WriteStatement<Origin & CreatedRows> =>
  composeWrite((parameters) => {
    const { fields } = collection;
    const lists = [
      parameters.named('ids', 'text[]'),
      parameters.named('created', 'bigint[]'),
      parameters.named('updated', 'bigint[]'),
      parameters.named('hashes', 'text[]'),
      // A shorter list, or none, is filled with nulls.
      ...fields.map(({ name }) => parameters.member('columns', name, 'text[]')),
    ];
    const given = ['id', 'created', 'updated', 'hash', ...fields.map((_, n) => `v${n}`), 'place'];
    const rest = given.slice(1).map((name) => `u.${name}`);
    const now = isPlaced ? nextUpdatedAt('last') : nowSec;
    const kept = `least(g.updated, ${nowSec})`;
    // If an earlier record had the id, no version may repeat, so the body's time is not used.
    const updated = isPlaced
      ? `case when last.updated_at is null then coalesce(${kept}, ${now}) else ${now} end`
      : `coalesce(${kept}, ${now})`;
    const columns = [
      { name: 'id', value: 'g.id' },
      { name: 'created_at', value: `coalesce(least(g.created, ${nowSec}), least(g.updated, ${now}), ${now})` },
      { name: 'updated_at', value: updated },
      ...(isPlaced ? [{ name: '_revision', value: `coalesce(${nextRevision('last')}, 0)` }] : []),
      ...fields.map((field, n) => ({
        name: quoteIdentifier(field.name),
        value: newValue(field, `g.v${n}::${fieldTypeOf(field).columnType(field)}`),
      })),
      ...(hasAccounts(collection) ? [{ name: 'password_hash', value: 'g.hash' }] : []),
      ...(hasAccounts(collection) && isPlaced ? [{ name: 'token_version', value: tokenVersionAt() }] : []),
    ];
    const join = isPlaced ? ` join last on last.id = g.id${isStrict ? '' : ' and not last.is_there'}` : '';
    const rows = { columns, from: `given g${join} order by g.place`, skips: isStrict ? undefined : '' };
    return {
      before: [
        {
          name: 'given',
          sql: `select u.id collate "C" as id, ${rest.join(', ')}, null::text as batch from unnest(${lists.join(', ')}) with ordinality u(${given.join(', ')})`,
          isMaterialized: true,
        },
        isPlaced ? lastVersions(collection, 'array(select distinct id from given)') : undefined,
      ],
      writes: [{ collection, verb: 'create', rows, places: 'given', isSilent }],
      answer: 'select id from new',
    };
  });

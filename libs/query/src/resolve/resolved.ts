import type { Collection, Field, ValueKind } from '@recordbus/schema';
import type { Moment } from '../language/ast.ts';

/**
 * An expression with all names looked up, both sides of each comparison of one kind, and `not` moved to the tests. A
 * test that reads a caller value holds only for callers who have it, negated or not (rules §4.4).
 */
export type Resolved =
  | { readonly kind: 'all' | 'any'; readonly items: readonly Resolved[] }
  | Decided
  | NullTest
  | ResolvedComparison
  | ResolvedExists;

/** The same for every record and request. */
export interface Decided {
  readonly kind: 'decided';
  readonly holds: boolean;
  /** Set if a caller value is missing. Then an enclosing test never holds either. */
  readonly lacksCaller?: true;
}

/** How a test on one value becomes a test on a path with several values (filters §5.8). */
export interface Form {
  /** Whether the test holds if no value passes, rather than if some value passes. */
  readonly isNegated: boolean;
  /** Whether a value passes if the test does not hold for it. Only for paths with several values. */
  readonly negatesValue: boolean;
}

/** A test for null. */
export interface NullTest extends Form {
  readonly kind: 'nullTest';
  readonly operand: Source;
}

export interface ResolvedComparison extends Form {
  readonly kind: 'comparison';
  /** `in` is `=` without the rule that two sides without a value are equal. */
  readonly operator: '=' | '>' | '>=' | '<' | '<=' | '~' | 'in';
  readonly left: Source;
  readonly right: Source;
  readonly as: ValueKind;
  /** The side that is a list, if `as` is `list`. The other side is an item, or with `in` possibly a list too. */
  readonly list?: 'left' | 'right' | undefined;
}

/** Whether a path leads to a record; for `exists(…)`, to any record in a collection. */
export interface ResolvedExists {
  readonly kind: 'exists';
  readonly isNegated: boolean;
  readonly from: { readonly target: Collection; readonly guard: Resolved | undefined } | Column;
  /** The condition on a found record. Its outer row is the test's row. */
  readonly condition: Resolved | undefined;
}

/** Where one side's value comes from. */
export type Source =
  | Constant
  | Several
  | MomentSource
  | Column
  | CallerValue
  | CountSource
  | RequestValue
  | IsSet
  | Changed;

export interface Constant {
  readonly source: 'constant';
  readonly kind: Scalar;
  /** JSON text when the kind is `json`. */
  readonly value: string | number | boolean;
}

/** The items in `in (…)`; only with this operator. */
export interface Several {
  readonly source: 'several';
  readonly items: readonly Source[];
}

/** The kinds that a parameter can have. */
export type Scalar = Exclude<ValueKind, 'list' | 'vector'>;

interface MomentSource extends Pick<Moment, 'name' | 'shiftSec'> {
  readonly source: 'moment';
}

/** The relations to follow from a row. */
export interface Walk {
  /** How many levels outwards the path begins: 0 for the test's row, 1 for `record.` within `exists`. */
  readonly up: number;
  /** The relations to follow, in order; none for a column in the row itself. */
  readonly hops: readonly Hop[];
}

export interface Column extends Walk {
  readonly source: 'column';
  /** The column's name, quoted. */
  readonly column: string;
  readonly kind: ValueKind;
  /** Keys into a JSON value. */
  readonly keys: readonly string[];
  /** The column's hop, if it is a relation. */
  readonly relation?: Omit<Hop, 'guard'> | undefined;
  /** Whether the column has points on the earth. */
  readonly isPoint: boolean;
  /** The condition on its record under which the value is visible; undefined when it always is. */
  readonly visibleIf?: Resolved | undefined;
  readonly transform?: Transform | undefined;
  /** Whether an index serves substring search. */
  readonly isSearchable: boolean;
}

/** A stored value's transform: its text in lower case, its length, or its distance in kilometers. */
export type Transform =
  | { readonly to: 'lower' | 'length' }
  | { readonly to: 'distance'; readonly lat: number; readonly lng: number };

/** A relation that is followed: the link to a row, and its target. */
export interface Hop {
  readonly link: Link;
  readonly target: Collection;
  /** The condition under which a target is visible; undefined when every target is. */
  readonly guard: Resolved | undefined;
  /** The condition under which the relation is visible, on the record that has it; undefined when it always is. */
  readonly visibleIf?: Resolved | undefined;
}

/** How a row is linked to a hop's rows. Columns are quoted. */
export type Link =
  /** The column has the target's id. */
  | { readonly via: 'relation'; readonly column: string }
  /** The target's column has the row's id. */
  | { readonly via: 'referrers'; readonly column: string }
  /** The column lists the targets' ids. If the row is in a table, a link table has them too. */
  | { readonly via: 'list'; readonly column: string; readonly table: string | undefined }
  /** A list in the target has the row's id. */
  | { readonly via: 'listReferrers'; readonly column: string; readonly table: string | undefined };

/** A value from the caller's stored account or its relations: a path from the account's row. */
export interface CallerValue {
  readonly source: 'caller';
  readonly account: Collection;
  readonly column: Column;
  /** The value's kind, after the transform. */
  readonly kind: ValueKind;
}

/** `count(…)`: the records at a path's end, each once, or the entries in its lists. */
export interface CountSource {
  readonly source: 'count';
  readonly of: Column;
  /** The account that the path begins at, if it is a caller path. */
  readonly account: Collection | undefined;
  /** Whether list entries are counted instead of records. */
  readonly countsEntries: boolean;
}

/** A request value, which is a parameter, so one statement serves every caller. */
export interface RequestValue {
  readonly source: 'request';
  readonly part: RequestPart;
  readonly path: readonly string[];
  readonly kind: Scalar | 'list';
  readonly isLowered: boolean;
}

export type RequestPart = 'auth' | 'body' | 'query' | 'headers' | 'method';

/** `:isset`: whether the request has the value, null included. */
export interface IsSet {
  readonly source: 'isset';
  readonly part: RequestPart;
  readonly path: readonly string[];
}

/** `:changed`: whether the body has a value that differs from the stored one. */
interface Changed {
  readonly source: 'changed';
  readonly field: Field;
}

/** Whether a hop may lead to several records. */
const isMany = ({ link }: Hop): boolean => link.via !== 'relation';

/** Whether the path passes through several records. */
export const passesSeveral = ({ hops }: Walk): boolean => hops.some(isMany);

/** Whether the source may have several values, apart from a list. */
export function hasSeveralValues(source: Source): boolean {
  if (source.source === 'caller') return passesSeveral(source.column);
  return source.source === 'column' && passesSeveral(source);
}

import type { Rule } from './collection.ts';

/** A collection's field, its options complete and checked (fields §1.1). */
export interface Field {
  /** Stable over renames: another name under the same id renames the column and keeps its data (collections §6.2). */
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly system: boolean;
  readonly options: Readonly<Record<string, unknown>>;
  /** The target collection's name; relation fields only. */
  readonly collection?: string;
  /** Who sees the field; by default everyone who sees the record (fields §5). */
  readonly viewRule?: Rule;
  /** Who may write the field; by default everyone who may write the record (fields §5). */
  readonly writeRule?: Rule;
}

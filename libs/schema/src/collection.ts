import type { Field } from './field.ts';

export type CollectionType = 'base' | 'auth' | 'view';

/** What a rule can be asked for. */
export type RuleName = 'list' | 'view' | 'create' | 'update' | 'delete';

/** null = public, '' = admins only, anything else an expression (interface §2.1; PocketBase has it the other way round). */
export type Rule = string | null;

/** A collection as every service sees it. */
export interface Collection {
  readonly id: string;
  readonly name: string;
  readonly type: CollectionType;
  readonly fields: readonly Field[];
  readonly viewQuery: string | null;
  readonly rules: Readonly<Record<RuleName, Rule>>;
  readonly historyEnabled: boolean;
  readonly createdAtSec: number;
  readonly updatedAtSec: number;
}

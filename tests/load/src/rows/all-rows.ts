import type { Options } from '../options.ts';
import { batch } from './batch.ts';
import { cascade } from './cascade.ts';
import { longLists } from './long-lists.ts';
import { reads } from './reads.ts';
import { related } from './related.ts';
import type { Row } from './row.ts';
import { searches } from './search.ts';
import { signIns } from './sign-ins.ts';
import { teamRules } from './team-rules.ts';
import { vectorSearch } from './vector-search.ts';
import { writes } from './writes.ts';

/** All rows, in the order in which they run. */
export const allRows: readonly Row[] = [
  ...reads,
  ...longLists,
  ...signIns,
  ...related,
  ...teamRules,
  vectorSearch,
  ...writes,
  batch,
  cascade,
  ...searches,
];

/** Whether the command line selects a part of the bench. */
export const isWanted = ({ rows }: Options, name: string): boolean =>
  rows.length === 0 || rows.some((start) => name.startsWith(start));

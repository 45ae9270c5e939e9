import { describeIssues } from '@recordbus/errors/describe-issues';
import { startSlice } from '@recordbus/limits/time-slice';
import type { Problems } from '@recordbus/schema';
import type { z } from 'zod';

interface Items {
  readonly given: readonly unknown[];
  /** Returns an item's place in problems, for its position from 0. */
  placeOf(item: unknown, position: number): string;
  readonly problems: Problems;
}

/** Checks items' shapes one by one, in time slices. Returns the valid ones and notes the others' problems. */
export async function readItems<T extends z.ZodType>(
  schema: T,
  { given, placeOf, problems }: Items,
): Promise<z.output<T>[]> {
  const valid: z.output<T>[] = [];
  const slice = startSlice();
  for (const [position, item] of given.entries()) {
    if (slice.isOver()) await slice.pause();
    const result = schema.safeParse(item);
    if (result.success) valid.push(result.data);
    else
      for (const [path, message] of Object.entries(describeIssues(result.error, item)))
        problems.add(`${placeOf(item, position)}${path === 'body' ? '' : `.${path}`}`, message);
    if (problems.isFull()) break;
  }
  return valid;
}

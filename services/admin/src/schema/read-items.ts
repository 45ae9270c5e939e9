import type { Problems } from '@recordbus/schema';
import { describeIssues } from '@recordbus/shared/describe-issues';
import { startSlice } from '@recordbus/shared/time-slice';
import type { z } from 'zod';

interface Items {
  readonly given: readonly unknown[];
  /** Returns the place of an item in problems, for its position from 0. */
  placeOf(item: unknown, position: number): string;
  readonly problems: Problems;
}

/** Checks the shapes of items one by one, in slices of time. Returns the valid ones and notes the problems of others. */
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

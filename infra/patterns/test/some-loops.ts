interface Queue {
  readonly length: number;
  push(one: string): void;
}

/** Some loops that wait. */
export async function loops(next: () => Promise<string>, isOver: () => boolean, queue: Queue): Promise<void> {
  while ((await next()) !== 'end');
  while (queue.length < 3) await next();
  do await next();
  while (queue.length < 3 || !isOver());
  let text = '';
  while (!text.endsWith('.')) text += await next();
  // These end.
  while (!isOver()) await next();
  while (queue.length < 3 && performance.now() < 1000) await next();
  while (queue.length < 3) queue.push(await next());
  for (let left = 3; left > 0; left -= 1) await next();
  while ((await next()) === 'more') if (queue.length > 100) throw new Error('too many');
}

/** Something that waits for a slot: `run` is called, once, when it has one. */
export type SlotTask = { run(): void };

type Origin = { active: number; readonly waiting: Set<SlotTask> };

/**
 * At most `limit` exchanges per origin at a time, the others wait in order. The queue stands here and not in the
 * connection pool because a pool keeps what has long timed out: behind an endpoint that swallows connections it grows
 * without bound.
 */
export function createOriginSlots(limit: number) {
  const origins = new Map<string, Origin>();

  return {
    /** Runs the task now, or later when a slot is free. */
    enter(name: string, task: SlotTask): void {
      let origin = origins.get(name);
      if (!origin) {
        origin = { active: 0, waiting: new Set() };
        origins.set(name, origin);
      }
      if (origin.active >= limit) {
        origin.waiting.add(task);
        return;
      }
      origin.active++;
      task.run();
    },

    /** Takes a waiting task back; false when it has run already. */
    withdraw(name: string, task: SlotTask): boolean {
      return origins.get(name)?.waiting.delete(task) ?? false;
    },

    /** Gives a slot back, to the first that waits. */
    leave(name: string): void {
      const origin = origins.get(name);
      if (!origin) return;
      const [next] = origin.waiting;
      if (next) {
        origin.waiting.delete(next);
        // In a fresh stack: a task that fails at once leaves at once, and a long queue would recurse through them all.
        process.nextTick(runTask, next);
        return;
      }
      origin.active--;
      if (origin.active === 0) origins.delete(name);
    },
  };
}

function runTask(task: SlotTask): void {
  task.run();
}

export type OriginSlots = ReturnType<typeof createOriginSlots>;

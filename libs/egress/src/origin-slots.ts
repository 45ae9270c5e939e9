/** A task that waits for a slot. `run` is called once, when it has one. */
export type SlotTask = { run(): void };

type Origin = { active: number; readonly waiting: Set<SlotTask> };

/**
 * Allows `limit` exchanges at once per origin; further ones wait in order. The queue is here and not in the connection
 * pool, because a pool keeps requests that have timed out: for an endpoint that swallows connections it grows without
 * bound.
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

    /** Removes a waiting task; false when it has already run. */
    withdraw(name: string, task: SlotTask): boolean {
      return origins.get(name)?.waiting.delete(task) ?? false;
    },

    /** Frees a slot for the first waiting task. */
    leave(name: string): void {
      const origin = origins.get(name);
      if (!origin) return;
      const [next] = origin.waiting;
      if (next) {
        origin.waiting.delete(next);
        // On a fresh stack: tasks that fail at once leave at once, and a long queue of them would recurse.
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

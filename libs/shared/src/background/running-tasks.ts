import type { TaskHealth } from './task-health.ts';

/** A task of this process that has started and has not stopped. */
interface RunningTask {
  readonly name: string;
  readonly health: TaskHealth;
}

const running = new Set<RunningTask>();

/** Adds a task to those of the process. */
export function listTask(task: RunningTask): void {
  running.add(task);
}

export function unlistTask(task: RunningTask): void {
  running.delete(task);
}

/** The health of the running tasks of this process, by name. Tasks with the same name have the health of the worst. */
export function healthOfTasks(): ReadonlyMap<string, TaskHealth> {
  const byName = new Map<string, TaskHealth>();
  for (const { name, health } of running) {
    const known = byName.get(name);
    if (!known || isWorse(health, known)) byName.set(name, health);
  }
  return byName;
}

function isWorse(a: TaskHealth, b: TaskHealth): boolean {
  if (a.failures !== b.failures) return a.failures > b.failures;
  return (a.lastSuccessAtMs ?? 0) < (b.lastSuccessAtMs ?? 0);
}

import type { TaskHealth } from './task-health.ts';

/** A task in this process that has started and has not stopped. */
interface RunningTask {
  readonly name: string;
  readonly health: TaskHealth;
}

const running = new Set<RunningTask>();

/** Adds a task to the process's tasks. */
export function listTask(task: RunningTask): void {
  running.add(task);
}

export function unlistTask(task: RunningTask): void {
  running.delete(task);
}

/** The health of this process's running tasks, by name. Tasks with the same name have the worst one's health. */
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

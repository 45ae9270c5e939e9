import { setTimeout as wait } from 'node:timers/promises';

export const interval = setInterval(() => {}, 1000);

export function byName(): void {
  setTimeout(byName, 1000);
}

export function byCall(): void {
  setTimeout(() => void byCall(), 1000);
}

export const ofVariable = (): void => {
  setTimeout(() => ofVariable(), 1000);
};

export class OfClass {
  keepUp(): void {
    setTimeout(async () => {
      await wait(1);
      this.keepUp();
    }, 1000);
  }
}

export async function inLoop(): Promise<void> {
  for (;;) await wait(1000);
}

export async function once(): Promise<void> {
  setTimeout(() => byName(), 1000);
  await wait(1000);
}

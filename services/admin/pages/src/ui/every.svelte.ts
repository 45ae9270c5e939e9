/** Calls a function again and again while the component lives and its page is looked at. Never before the last call ended. */
export function every(ms: number, work: () => Promise<unknown>, isWanted: () => boolean = () => true): void {
  $effect(() => {
    if (!isWanted()) return undefined;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const plan = (): void => {
      timer = setTimeout(async () => {
        if (document.visibilityState === 'visible') await work();
        if (!isOver) plan();
      }, ms);
    };
    plan();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  });
}

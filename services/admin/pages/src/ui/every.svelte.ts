/** Calls a function repeatedly while the component lives and the page is visible. Calls do not overlap. */
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

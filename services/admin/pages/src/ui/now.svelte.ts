/** A clock for texts such as `3 min ago`. It ticks every few seconds while the component lives. */
export function ticking(everyMs = 5000): { readonly ms: number } {
  let ms = $state(Date.now());
  $effect(() => {
    const timer = setInterval(() => {
      ms = Date.now();
    }, everyMs);
    return () => clearInterval(timer);
  });
  return {
    get ms() {
      return ms;
    },
  };
}

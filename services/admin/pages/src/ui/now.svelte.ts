/** A clock for texts such as `3 min ago`; it moves every few seconds while someone reads it. */
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

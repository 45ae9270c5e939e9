/**
 * Repeats `beat` while other work runs, for example to renew its lease. A beat that is due while the last one runs is
 * skipped. `onFailure` gets a beat's error; without it errors are ignored. Returns a function that ends the beats.
 */
export function heartbeat(
  intervalMs: number,
  beat: () => unknown,
  onFailure: (error: unknown) => void = () => {},
): () => void {
  let isBeating = false;
  const timer = setInterval(async () => {
    if (isBeating) return;
    isBeating = true;
    try {
      await beat();
    } catch (error) {
      onFailure(error);
    } finally {
      isBeating = false;
    }
  }, intervalMs);
  return () => clearInterval(timer);
}

/**
 * Repeats `beat` while other work is under way, such as the renewal of its lease. A beat that is due while the last one
 * runs is left out. `onFailure` gets what a beat throws; without it that is ignored. Gives the function that ends it.
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

/** Shows how far work has come. */
export interface Progress {
  /** Shows a text, with a bar if the completed part (0 to 1) is known. */
  show(text: string, part?: number): void;
  /** Removes the bar. */
  end(): void;
}

/** Shows nothing. */
export const noProgress: Progress = { show() {}, end() {} };

/** Whether the palette is open. */
class Palette {
  isOpen = $state(false);

  open(): void {
    this.isOpen = true;
  }

  close(): void {
    this.isOpen = false;
  }
}

export const palette = new Palette();

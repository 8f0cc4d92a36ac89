/** Sections as they are made, before a page has room for all or some of their lines. */

import type { Section } from "./sections.ts";

/** A line or some that belong together, and how important it is that they stay. */
export interface Row {
  /** The text, without a line break at its end. */
  text: string;
  /** Rows of less weight are left out first. */
  weight: number;
  /** Share of the whole that the row stands for, where it is a part of one. */
  share?: number;
}

/** Lines that stand below one lead. */
export interface Block {
  /** Lines before the rows; they stay while any row does. */
  lead: string[];
  /** The rows. */
  rows: Row[];
  /** Importance of the lead where it says something without rows; that of a block without rows is 500. */
  weight?: number;
  /** What the rows that may be left out are, where their lead does not say it. */
  of?: string;
  /** What no row has, told below them. */
  also?: string;
}

/** One section. */
export interface SectionText {
  /** Its name. */
  section: Section;
  /** Its heading. */
  title: string;
  /** Its blocks. */
  blocks: Block[];
}

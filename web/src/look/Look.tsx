// All tokens and components on one page.
import { useMantineColorScheme } from "@mantine/core";
import { Appearance } from "../screens/settings/Appearance";
import { Controls } from "./Controls";
import css from "./Look.module.css";
import { Tokens } from "./Tokens";
import { Values } from "./Values";

export function Look() {
  const { colorScheme } = useMantineColorScheme();
  return (
    <main className={css.page}>
      <div className={css.sections}>
        <h1 className="title">The look of mcplens</h1>
        <Appearance />
        <Tokens key={colorScheme} />
        <Controls />
        <Values />
      </div>
    </main>
  );
}

// An address that the page does not have: leads to the nearest one that it has.
import { Navigate, useLocation } from "react-router";
import { nearestPath } from "../state/navigation";

export function NearestScreen() {
  return <Navigate to={nearestPath(useLocation().pathname)} replace />;
}

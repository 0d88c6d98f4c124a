"""`python -m dbsim`, the same as the command `dbsim`; Ctrl-C has its exit code also while this is still loading."""

try:
    from dbsim.cli import main
except KeyboardInterrupt:
    raise SystemExit(130) from None

if __name__ == "__main__":
    main()

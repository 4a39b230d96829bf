! As much of fortran.f90 as flang 19 compiles: it has no nowait, and no teams loop.
program fortran_19
  use omp_lib
  implicit none
  integer :: i, a(100), on_host
  integer, allocatable :: b(:)
  allocate(b(100))
  a = 1
  b = 2
  on_host = -1
  !$omp target enter data map(to: b)
  !$omp target map(tofrom: a) map(from: on_host)
  on_host = 0
  if (omp_is_initial_device()) on_host = 1
  do i = 1, 100
    a(i) = a(i) + b(i) * i
  end do
  !$omp end target
  !$omp target exit data map(delete: b)
  if (on_host /= merge(1, 0, omp_get_num_devices() == 0)) stop 2
  if (any(a /= [(1 + 2 * i, i = 1, 100)])) stop 1
  print '(a)', "all is right"
end program
